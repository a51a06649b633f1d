from tests.cli.conftest import every_line as every_line
from tests.cli.conftest import slow_machine as slow_machine
from tests.cli.test_commands import folder as folder

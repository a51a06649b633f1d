from tests.cli.conftest import every_line as every_line
from tests.cli.conftest import folder as folder
from tests.cli.conftest import here as here
from tests.cli.conftest import slow_machine as slow_machine

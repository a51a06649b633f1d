"""Studies of hdsp: its models beside other people's, and the paper's figures made again.

Not part of the public interface: what is here may change between releases.
"""

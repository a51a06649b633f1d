"""The variational family of the HDSP: data, state, document step, global step and the bound."""

"""malt warns that it cannot read the source of functions unless it can read its own, of this module."""

module_collection_mode = {"malt.utils.ag_logging": "pyz+py"}

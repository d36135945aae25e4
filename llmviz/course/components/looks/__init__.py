"""Short passages whose links put the page into a state."""

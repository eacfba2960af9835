"""Skills from elsewhere: fetched safely and kept for good. Stands on core and knows no Django."""

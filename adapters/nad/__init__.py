"""NetworkAttachmentDefinitions that match a pool."""

"""Bootstrap over identities: intervals of means, groups and claims."""

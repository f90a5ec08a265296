/**
 * Cluster of the objects that the management API makes. No controller serves it, so no garbage collector touches them
 * (docs/decisions/management-api.md). A cluster's uid is never a word.
 */
export const API_CLUSTER = "api";

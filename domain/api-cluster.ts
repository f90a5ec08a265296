/**
 * The cluster of what the management API makes: no controller's, so that no garbage collector touches it
 * (docs/decisions/management-api.md). A cluster's uid is never a word.
 */
export const API_CLUSTER = "api";

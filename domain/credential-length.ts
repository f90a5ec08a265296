/** Maximum length of a provider's credential, in characters: each server keeps those of all gateways in memory. */
export const MAX_CREDENTIAL_LENGTH = 4_096;

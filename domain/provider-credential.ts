/** Maximum length of a provider's credential, in characters: each server keeps those of all gateways in memory. */
export const MAX_CREDENTIAL_LENGTH = 4_096;

/** Pattern of a provider's credential: characters that any HTTP header carries as they are. */
export const CREDENTIAL_PATTERN = "^[!-~]+$";

const CREDENTIAL = new RegExp(CREDENTIAL_PATTERN);

/** True if a text can be sent to a provider as its credential. */
export function isCredential(text: string): boolean {
  return text.length <= MAX_CREDENTIAL_LENGTH && CREDENTIAL.test(text);
}

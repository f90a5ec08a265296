/** Maximum length of a provider's credential, in characters: each server keeps those of all gateways in memory. */
export const MAX_CREDENTIAL_LENGTH = 4_096;

/** Pattern of a credential that the management API takes. */
export const CREDENTIAL_PATTERN = "^[!-~]+$";

const CREDENTIAL = new RegExp(CREDENTIAL_PATTERN);
/** Characters that a header carries. A Secret may hold a passphrase of a self-hosted model server. */
const IN_HEADERS = /^[\t\x20-\x7e\x80-\xff]+$/;

/** True if the management API takes a text as a provider's credential. */
export function isCredential(text: string): boolean {
  return text.length <= MAX_CREDENTIAL_LENGTH && CREDENTIAL.test(text);
}

/** True if a text can be sent to a provider as its credential. */
export function isSendableCredential(text: string): boolean {
  return text.length <= MAX_CREDENTIAL_LENGTH && IN_HEADERS.test(text);
}

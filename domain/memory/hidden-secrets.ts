import { redactKeys } from "../redact.ts";

/** What stands where a secret was. */
export const SECRET_MARK = "[secret]";

/** Credentials that are known by their form. What each may repeat is bounded, so that a long text takes no longer by its form. */
const CREDENTIALS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,16384}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
  // OpenAI, Anthropic and others; Stripe; GitHub; GitLab; Slack; npm; Hugging Face.
  /\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,512}/g,
  /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|hf_|whsec_)[A-Za-z0-9_-]{10,512}/g,
  // AWS, Google.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,60}/g,
  // A JWT.
  /\beyJ[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{10,4096}/g,
];
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{16,4096}/gi;
/** The password of a URL's user. */
const IN_URL = /(:\/\/[^\s:/@]{1,256}):[^\s/@]{1,256}@/g;
/** What is said to be one: `password: hunter2`, `"api_key": "..."`, `CLIENT_SECRET=...`. */
const SAID =
  /((?:passw(?:or)?d|passphrase|secret|api[-_ ]?key|access[-_ ]?key|auth[-_ ]?token|access[-_ ]?token|private[-_ ]?key)["']?\s{0,3}[:=]\s{0,3})(?:"[^"\n]{4,512}"|'[^'\n]{4,512}'|[^\s"',;)}\]]{4,512})/gi;

/** A text in which {@link SECRET_MARK} stands for each credential that is known by its form, or by what it is called. */
export function hideSecrets(text: string): string {
  const named = redactKeys(text)
    .replace(IN_URL, `$1:${SECRET_MARK}@`)
    .replace(BEARER, `$1 ${SECRET_MARK}`)
    .replace(SAID, `$1${SECRET_MARK}`);
  return CREDENTIALS.reduce((shown, form) => shown.replace(form, SECRET_MARK), named);
}

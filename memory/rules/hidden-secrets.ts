import { redactKeys } from "../../domain/redact.ts";

/** Text that stands in place of a secret. */
export const SECRET_MARK = "[secret]";

/**
 * Patterns of credentials that are known by their form. A pattern begins only where what it repeats cannot have begun
 * before, and fails after few steps or takes what it has read: so no form of a long text makes it take longer.
 */
const CREDENTIALS: readonly RegExp[] = [
  // Up to its end mark, or the end of a truncated key: its headers and its armor have hyphens too.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----(?:BEGIN|END) )){0,65536}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
  // OpenAI, Anthropic and others; Stripe; GitHub; GitLab; Slack; npm; Hugging Face.
  /\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|hf_|whsec_)[A-Za-z0-9_-]{10,}/g,
  // AWS, Google.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  // A JWT.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
];
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{16,}/gi;
/** Password of a URL's user, who may have no name: up to the last `@`, which a password may have too. */
const IN_URL = /(:\/\/[^\s:/]*):[^\s/]+@/g;
/**
 * Patterns of a secret with its name: `password: hunter2`, `"api_key": "..."`, `CLIENT_SECRET=...`, `Authorization:
 * Token ...`.
 */
const SCHEME = "(?:(?:Bearer|Basic|Token|Api-?Key|Key|Digest)\\s{1,3})";
const NAME = [
  "passw(?:or)?d|passphrase|secret|token|(?<![a-z])(?:db)?(?:pass|pwd)",
  "(?:secret|api|access|account|auth|private|encryption|signing|master)[-_ ]?key",
  // Much else is named so: only a value that begins with a scheme, or is long, is hidden.
  String.raw`\bauthorization(?=["']?\s{0,3}[:=]\s{0,3}["']?(?:${SCHEME}|\S{16}))`,
].join("|");
const VALUE = [
  String.raw`\\"[^"\n]{4,4096}"?|"(?:[^"\\\n]|\\[^\n]){4,4096}"?|'[^'\n]{4,4096}'?`,
  // The end of a sentence and a closing bracket are no part of the value.
  "\\S{3,}[^\\s\"',;.)}\\]]",
].join("|");
const SAID = new RegExp(
  String.raw`((?:${NAME})\\?["']?\s{0,3}[:=]\s{0,3}(?!${SCHEME}?\[secret\])${SCHEME}?)(?:${VALUE})`,
  "gi",
);

/** Puts {@link SECRET_MARK} in place of each credential in a text that is known by its form, or by its name. */
export function hideSecrets(text: string): string {
  // By form first: by its name, only the first line of a key of many lines is found.
  return CREDENTIALS.reduce((shown, form) => shown.replace(form, SECRET_MARK), redactKeys(text))
    .replace(IN_URL, `$1:${SECRET_MARK}@`)
    .replace(BEARER, `$1 ${SECRET_MARK}`)
    .replace(SAID, `$1${SECRET_MARK}`);
}

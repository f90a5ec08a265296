import { expect, test } from "vitest";
import { hideSecrets } from "../../../memory/rules/hidden-secrets.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const parts = (...text: string[]) => text.join("");

test.each([
  parts("inf_", "0123456789abcdef"),
  parts("sk-", "proj-0123456789abcdefghij"),
  parts("sk-ant-", "api03-0123456789abcdefghij"),
  parts("ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"),
  parts("xoxb-", "0123456789-abcdefghij"),
  parts("AKIA", "ABCDEFGHIJKLMNOP"),
  parts("AIza", "0123456789abcdefghijklmnopqrstuvwxy"),
  parts("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "abcdefghijklmnop"),
  parts("eyJhbGciOiJIUzI1NiJ9.", "eyJ".repeat(2_000), ".abcdefghijklmnop"),
  parts("-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE", " KEY-----"),
  parts(
    ...["-----BEGIN RSA PRIVATE", " KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMIIEvQIBADANBg\n"],
    ...["-----END RSA PRIVATE", " KEY-----"],
  ),
  parts("-----BEGIN PGP PRIVATE", " KEY BLOCK-----\n\nlQOYBF\n=abcd\n-----END PGP PRIVATE", " KEY BLOCK-----"),
])("%s is hidden, and what stands around it is not", (secret) => {
  const shown = hideSecrets(`Use ${secret} for staging.`);
  expect(shown).toMatch(/^Use (?:\[secret\]|inf_\.\.\.) for staging\.$/);
});

test.each([
  ["password: hunter22", "password: [secret]"],
  ['"api_key": "abcdef"', '"api_key": [secret]'],
  ["CLIENT_SECRET=abcdef", "CLIENT_SECRET=[secret]"],
  ["Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [secret]"],
  ["Authorization: Token abc123def", "Authorization: Token [secret]"],
  ['{"Authorization": "Token abc123def"}', '{"Authorization": [secret]}'],
  ["SECRET_KEY=abcdef", "SECRET_KEY=[secret]"],
  ["DB_PASS=abcdef", "DB_PASS=[secret]"],
  ["token: abcdef", "token: [secret]"],
  ["token: Bearer abcdef", "token: Bearer [secret]"],
  ["password: foo,bar,long, and so on.", "password: [secret], and so on."],
  ['password: "foo, bar', "password: [secret]"],
  ['{\\"password\\": \\"hunter22\\"}', '{\\"password\\": [secret]}'],
  ["postgres://app:hunter22@db/app", "postgres://app:[secret]@db/app"],
  ["postgres://app:p@ss@db/app", "postgres://app:[secret]@db/app"],
  ["redis://:hunter22@cache", "redis://:[secret]@cache"],
  [
    parts("PRIVATE_KEY=-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE", " KEY-----"),
    "PRIVATE_KEY=[secret]",
  ],
])("%s is %s", (text, shown) => {
  expect(hideSecrets(text)).toBe(shown);
  expect(hideSecrets(shown)).toBe(shown);
});

test("what is no secret stays", () => {
  const text = "The task-list of the risk team: passwords are rotated in May, see https://example.com:8080/a@b.";
  expect(hideSecrets(text)).toBe(text);
});

/** Of a million characters each, a form's beginnings without its end, and ends without their beginning. */
const HOSTILE = [
  ...["inf_", "sk-a-", "-sk-", "sk-abcdefghijklmno ", "ghp_", "AKIA", "-AIza", "AIza-"],
  ...["-eyJ", "eyJ", "eyJaaaaaaaaaa.", "eyJaaaaaaaaaa.a.", "eyJaaaaaaaaaa..", ".eyJaaaaaaaaaa"],
  ...["-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END ", "-----BEGIN PRIVATE KEY-----a", "-"],
  ...["://", "://a:", "://:", "://@:", "://a:b@", ":", "@:"],
  ...["Bearer ", "Basic\n\n", "Bearer aaaaaaaaaaaaaa ", "authorization: ", "authorization: token "],
  ...[
    "password: ",
    "password:",
    "password=,",
    'password:"',
    "password: '\\",
    "token: Bearer ",
    'token:\\"',
    "secret_key",
    "api-key=`",
  ],
  ...["aB3-", "a", " ", "=", '"', "\\", ".", ","],
].map((piece) => ({ piece, text: (length: number) => piece.repeat(Math.ceil(length / piece.length)) }));
/** The same after a beginning, so that what may go on goes on to the end. */
const BEGUN = [
  "eyJ",
  "eyJaaaaaaaaaa.",
  "eyJaaaaaaaaaa.aaaaaaaaaa.",
  "://a:",
  "://",
  "Bearer ",
  "password: ",
  'password: "',
  "-----BEGIN PRIVATE KEY-----",
];
const GOES_ON = ["a", "-eyJ", ",", " ", "\\", "-"];
const TEXTS = [
  ...HOSTILE,
  ...BEGUN.flatMap((begin) =>
    GOES_ON.map((piece) => ({
      piece: begin + piece,
      text: (length: number) => begin + piece.repeat(Math.ceil(length / piece.length)),
    })),
  ),
];

test("b83, b121: secrets are looked for in a number of steps that grows with the text", () => {
  /** The quickest of a few runs: on a busy machine some take long, and of steps that grow with the square all do. */
  const msOf = (text: string, enough = 0) => {
    let ms = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 20 && (run < 3 || ms > enough); run++) {
      const begun = performance.now();
      hideSecrets(text);
      ms = Math.min(ms, performance.now() - begun);
    }
    return ms;
  };
  const plain = msOf("We deploy on Mondays from now on. ".repeat(6_000));
  for (const { piece, text } of TEXTS) {
    expect(msOf(text(200_000), 100 * plain) / plain, piece).toBeLessThan(100);
  }
});

test("a text of a million characters is read, whatever it is made of", () => {
  for (const { text } of TEXTS) expect(hideSecrets(text(1_000_000))).not.toBe("");
});

import { hasCode } from "../../runtime/error-code.ts";
import { DatabaseUnavailableError } from "../../store/database/errors.ts";

/** What to do about what PostgreSQL, or the way to it, refuses: by its SQLSTATE, or by the code of the system or of TLS. */
const ADVICE: readonly (readonly [codes: readonly string[], advice: string])[] = [
  [["28P01"], "give the URL with the user's right password"],
  [["28000"], "give the URL of a user whom PostgreSQL lets in from here: see its pg_hba.conf, and sslmode"],
  [["3D000"], "create that database (createdb), or name another in the URL"],
  [["42501"], "grant the user the rights on the database's schema, or give the URL of its owner"],
  [["53300"], "end other clients, or raise PostgreSQL's max_connections"],
  [["ECONNREFUSED"], "start PostgreSQL there, or give the URL of another"],
  [["ENOENT"], "there is no such socket or file: see the URL's host, sslcert, sslkey and sslrootcert"],
  [["ENOTFOUND", "EAI_AGAIN"], "see the host's name in the URL, and that this machine can resolve it"],
  [["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"], "see the host in the URL, and that no firewall is in between"],
  [
    [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "CERT_HAS_EXPIRED",
    ],
    "name its certificate's authority in the URL: sslrootcert=FILE",
  ],
];
const NO_ANSWER = "see the host and port in the URL, and that no firewall is in between";

/** What to do about a database that cannot be reached, or lets nobody in; undefined for every other error. */
export function databaseAdvice(error: unknown): string | undefined {
  if (!(error instanceof DatabaseUnavailableError) && !isOfServer(error)) return undefined;
  const causes = error.cause instanceof Error ? [error, error.cause] : [error];
  const known = ADVICE.find(([codes]) => causes.some((one) => hasCode(one, ...codes)));
  return known?.[1] ?? (/timeout/i.test(error.message) ? NO_ANSWER : undefined);
}

/** An answer of PostgreSQL's own, which has a SQLSTATE. */
function isOfServer(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code)) && "severity" in error;
}

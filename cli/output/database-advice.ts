import { hasCode } from "../../runtime/error-code.ts";
import { DatabaseUnavailableError } from "../../store/database/errors.ts";

/**
 * Advice for an error of PostgreSQL or of the connection to it, by its SQLSTATE or the code of the system or of TLS.
 */
const ADVICE: readonly (readonly [codes: readonly string[], advice: string])[] = [
  [["28P01"], "give the URL with the user's right password, or that in --database-password-file"],
  [["28000"], "give the URL of a user whom PostgreSQL lets in from here: see its pg_hba.conf, and sslmode"],
  [["3D000"], "create that database (createdb), or name another in the URL"],
  [["42501"], "grant the user the rights on the database's schema, or give the URL of its owner"],
  [["53300"], "end other clients, or raise PostgreSQL's max_connections"],
  [
    ["57014"],
    "the database answers, and was busy or waited for a lock: see pg_stat_activity for sessions in long transactions, end them, and run this again",
  ],
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
    ],
    "give the authority of its certificate by --database-ca-file FILE, or by sslrootcert=FILE in the URL (the chart: by database.ca)",
  ],
  [["ERR_TLS_CERT_ALTNAME_INVALID"], "name the host in the URL as the database's certificate does"],
  [["CERT_HAS_EXPIRED"], "renew the database's certificate, or the authority's in --database-ca-file or sslrootcert"],
];
/** Advice for errors of pg without a code, by message. */
const BY_MESSAGE: readonly (readonly [message: RegExp, advice: string])[] = [
  [/is a standby/, "give a URL that leads to the primary; after a failover, try again once it does"],
  [
    /is read-only/,
    "once writes may go on, run alter database NAME reset default_transaction_read_only, or the same for the role; a provider that set it for want of room asks for a larger disk",
  ],
  [/timeout/i, "see the host and port in the URL, and that no firewall is in between"],
  [
    /does not support SSL/,
    "turn TLS on in PostgreSQL (ssl = on) or in the pooler, or add sslmode=disable to the URL where all that is on the way may read and change it",
  ],
];

/** Returns what to do about a database that cannot be reached or refuses a request; undefined for every other error. */
export function databaseAdvice(error: unknown): string | undefined {
  if (!(error instanceof DatabaseUnavailableError) && !isOfServer(error)) return undefined;
  const causes = error.cause instanceof Error ? [error, error.cause] : [error];
  const known = ADVICE.find(([codes]) => causes.some((one) => hasCode(one, ...codes)));
  return (known ?? BY_MESSAGE.find(([message]) => message.test(error.message)))?.[1];
}

/** True for an error that PostgreSQL itself reports, with a SQLSTATE. */
function isOfServer(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code)) && "severity" in error;
}

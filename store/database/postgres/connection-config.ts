/** Configuration of connections to PostgreSQL: its location, password and TLS. */
import { readFileSync } from "node:fs";
import type pg from "pg";
import { type ConnectionOptions, parse, toClientConfig } from "pg-connection-string";
import { errorText } from "../../../domain/error-text.ts";
import { DatabaseLocationError } from "../errors.ts";

/** Location of the database, as plain data for a worker thread too. Its files are read for each new connection. */
export type DatabaseLocation = {
  /** URL, or the file that holds it. */
  readonly url: string | { readonly file: string };
  /** File with the password, for a URL without a password. */
  readonly passwordFile?: string | undefined;
  /** File with the certificates in PEM that the database's own is verified against, like the URL's `sslrootcert`. */
  readonly caFile?: string | undefined;
};

/** Protection of a connection on its way to the database, or to the pooler in between. */
export type Protection =
  /** Verified against the certificates of a file; null for the authorities that Node trusts. */
  | { readonly kind: "verified"; readonly caFile: string | null }
  /** Encrypted, but without proof of the server's identity: libpq's `require` and `verify-ca`. */
  | { readonly kind: "unverified" }
  | { readonly kind: "none"; readonly isLocal: boolean };

type Parsed = { readonly config: pg.ClientConfig; readonly isLocal: boolean; readonly caFile: string | null };

const SCHEME = /^postgres(?:ql)?:\/\//;
/** Matches the hosts of a URL: the part between the user with the password and the path. */
const HOSTS = /^\w+:\/\/(?:[^/?]*@)?([^/?]*)/;
const LOOPBACK = /^(?:localhost|::1|127\.\d+\.\d+\.\d+)$/i;
const SSL_MODES: ReadonlySet<unknown> = new Set(["disable", "require", "verify-ca", "verify-full"]);
/** Modes that pg treats as verify-full, with a warning. */
const ALIASES = /([?&]sslmode=)(?:require|verify-ca)(?=&|$)/g;
const CERTIFICATE = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/m;
const LIBPQ = /[?&]uselibpqcompat=true(?=&|$)/;

/** Names of the files in messages. A log leaves their paths out, as it does with every long run of characters. */
const URL_FILE = "the database's URL file";
const PASSWORD_FILE = "the database's password file";
const CA_FILE = "the database's CA file";

const NO_URL =
  "must be a URL such as postgres://keyplane@db.example.com:5432/keyplane, without quotes, and with %23, %2F and %3F for #, / and ? in a password";
const MANY_HOSTS =
  "names several hosts, among which Keyplane does not choose: name one that leads to the primary, such as a Service, a virtual IP, a DNS name or a pooler in session mode";
const NODES_OWN =
  "sslrootcert=system is known to libpq alone: leave it out for the authorities that Node brings, and set NODE_USE_SYSTEM_CA=1 for this machine's as well";
const WRONG_MODE =
  "sslmode must be verify-full, which is the default for another machine, or disable for a connection without TLS; prefer, allow and no-verify are refused";

/**
 * Returns the configuration for a new connection. Reads files synchronously, because pg makes a client at once.
 *
 * @throws DatabaseLocationError for a file that cannot be read, and for a URL that names no single database. Its
 *   message contains nothing of a URL or a password, except the value of a parameter
 */
export function connectionConfig({ url, passwordFile, caFile }: DatabaseLocation): pg.ClientConfig {
  const { config } = parseUrl(url, caFile);
  if (passwordFile === undefined) return config;
  if (config.password) {
    throw new DatabaseLocationError("the URL holds a password, and a file with the password is given: leave one out");
  }
  return { ...config, password: readPassword(passwordFile) };
}

/**
 * Returns how connections to a location are protected.
 *
 * @throws DatabaseLocationError as {@link connectionConfig} does
 */
export function protectionOf(location: DatabaseLocation): Protection {
  const { config, isLocal, caFile } = parseUrl(location.url, location.caFile);
  if (!config.ssl) return { kind: "none", isLocal };
  const { rejectUnauthorized = true, checkServerIdentity } = config.ssl === true ? {} : config.ssl;
  const isVerified = rejectUnauthorized && checkServerIdentity === undefined;
  return isVerified ? { kind: "verified", caFile } : { kind: "unverified" };
}

/** Parses a URL as pg does, so that decisions on a host are made on the host that pg connects to. */
function parseUrl(url: DatabaseLocation["url"], caFile: string | undefined): Parsed {
  const isFile = typeof url === "object";
  const text = (isFile ? readText(URL_FILE, url.file) : url).trim();
  const refuse = (message: string) =>
    new DatabaseLocationError(isFile ? `${URL_FILE}, ${url.file}: ${message}` : message);
  // Behind a # pg would read nothing, not even sslmode.
  if (!SCHEME.test(text) || text.includes("#")) throw refuse(NO_URL);
  if (HOSTS.exec(text)?.[1]?.includes(",")) throw refuse(MANY_HOSTS);
  // pg would warn before it is refused.
  if (/[?&]sslmode=prefer(?=&|$)/.test(text)) throw refuse(WRONG_MODE);
  if (/[?&]sslrootcert=system(?=&|$)/.test(text)) throw refuse(NODES_OWN);
  if (caFile !== undefined && /[?&]sslrootcert=/.test(text)) {
    throw refuse("sslrootcert stands there, and a file with the authorities is given: leave one out");
  }
  const named = LIBPQ.test(text) ? text : text.replaceAll(ALIASES, "$1verify-full");
  const complete = caFile === undefined ? named : withParameter(named, "sslrootcert", caFile);
  try {
    return decideTls(parse(complete));
  } catch (error) {
    // The error for a text that is no URL quotes the text.
    if (error instanceof TypeError || error instanceof URIError) throw refuse(NO_URL);
    if (caFile !== undefined && error instanceof Error && "path" in error && error.path === caFile) {
      throw new DatabaseLocationError(`${CA_FILE}: ${errorText(error)}`);
    }
    throw refuse(errorText(error));
  }
}

/** Decides on TLS. If the URL does not set it, connections to another machine use TLS with Node's own checks. */
function decideTls(parsed: ConnectionOptions): Parsed {
  const { host, ssl, sslmode, sslrootcert } = parsed;
  if (sslmode !== undefined && !SSL_MODES.has(sslmode)) throw new Error(WRONG_MODE);
  if (host?.includes(",")) throw new Error(MANY_HOSTS);
  // A URL without a host means that of PGHOST, which may be anywhere.
  const isLocal = host?.startsWith("/") === true || LOOPBACK.test(host ?? "");
  const decided = sslmode !== undefined || isLocal ? {} : { ssl: typeof ssl === "object" ? ssl : true };
  const caFile = typeof sslrootcert === "string" ? sslrootcert : null;
  // With an empty file, Node would trust its own authorities instead.
  if (caFile !== null && typeof ssl === "object" && !CERTIFICATE.test(String(ssl.ca))) {
    throw new Error(`${CA_FILE}, ${caFile}: there is no certificate in it`);
  }
  return { config: toClientConfig({ ...parsed, ...decided }), isLocal, caFile };
}

function withParameter(url: string, name: string, value: string): string {
  const encoded = encodeURI(value).replaceAll(/[?&#+]/g, (character) => encodeURIComponent(character));
  return `${url}${url.includes("?") ? "&" : "?"}${name}=${encoded}`;
}

function readPassword(file: string): string {
  const password = readText(PASSWORD_FILE, file).replace(/\r?\n$/, "");
  if (password === "") throw new DatabaseLocationError(`${PASSWORD_FILE}, ${file}: there is no password in it`);
  return password;
}

function readText(what: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new DatabaseLocationError(`${what}: ${errorText(error)}`);
  }
}

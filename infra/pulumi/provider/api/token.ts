import { readFile } from "node:fs/promises";
import type { ProviderConfig } from "../config.ts";

/** Source of the token of each request. */
type TokenSource = {
  /** File or variable, for messages. */
  readonly where: string;
  /**
   * Reads the token. A file is read each time, since its writer may replace the token at any moment.
   *
   * @throws TokenError if there is none
   */
  read(): Promise<string>;
};

/** Error of a missing or unusable token. The message says what to do, and never holds what was read. */
export class TokenError extends Error {}

export function tokenSource({ tokenFile, token = "" }: ProviderConfig): TokenSource {
  if (tokenFile === undefined) {
    const where = "the variable KEYPLANE_TOKEN";
    return { where, read: async () => parseToken(token, where) };
  }
  return {
    where: tokenFile,
    async read() {
      try {
        return parseToken(await readFile(tokenFile, "utf8"), tokenFile);
      } catch (error) {
        if (error instanceof TokenError) throw error;
        const why = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
        throw new TokenError(`the token's file ${tokenFile} cannot be read (${why}): see that it is there`);
      }
    },
  };
}

function parseToken(text: string, where: string): string {
  const token = text.trim();
  if (token.startsWith("inf_")) {
    throw new TokenError(
      `${where} holds an API key, which manages nothing: give a token of an issuer, or the installation's`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TokenError(`${where} holds no token: it must be one word on one line`);
  return token;
}

/**
 * Returns when a JWT expires, in milliseconds since the epoch; undefined for anything else. Only for messages, since
 * nothing is verified.
 */
export function tokenEnd(token: string): number | undefined {
  try {
    const { exp }: { exp?: unknown } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

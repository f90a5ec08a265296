import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { redact } from "../../../../runtime/log.ts";
import { DatabaseLocationError } from "../../../../store/database/errors.ts";
import { connectionConfig, protectionOf } from "../../../../store/database/postgres/connection-config.ts";
import { makeCertificate } from "../../../env/certificate.ts";

const AUTHORITY = makeCertificate().cert;

let folder: string;
let caFile: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-connection-"));
  caFile = join(folder, "an authority & more.crt");
  writeFileSync(caFile, AUTHORITY);
});
afterAll(() => rmSync(folder, { recursive: true }));

function messageOf(refused: () => unknown): string {
  try {
    refused();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return expect.fail("it is not refused");
}

const save = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

describe("b112: how a database is asked by its URL", () => {
  const VERIFIED = { kind: "verified", caFile: null };
  const UNVERIFIED = { kind: "unverified" };
  const LOCAL = { kind: "none", isLocal: true };

  test.each([
    ["postgres://db/keyplane", VERIFIED],
    ["postgresql://keyplane:a,b@db.example.com:6432/keyplane?application_name=k", VERIFIED],
    ["postgres://10.0.0.1/keyplane", VERIFIED],
    ["postgres://[fd00::1]/keyplane", VERIFIED],
    // As PGHOST says.
    ["postgres:///keyplane", VERIFIED],
    ["postgres://127.0.0.1.example.com/keyplane", VERIFIED],
    ["postgres://localhost.example.com/keyplane", VERIFIED],
    ["postgres://localhost@db/keyplane", VERIFIED],
    ["postgres://localhost/keyplane?host=db", VERIFIED],
    ["postgres://db/keyplane?ssl=0", VERIFIED],
    ["postgres://db/keyplane?ssl=no-verify", VERIFIED],
    ["postgres://db/keyplane?sslnegotiation=direct", VERIFIED],
    ["postgres://db/keyplane?uselibpqcompat=true", VERIFIED],
    ["postgres://db/keyplane?sslmode=require", VERIFIED],
    ["postgres://db/keyplane?sslmode=verify-ca&connect_timeout=3", VERIFIED],
    ["postgres://db/keyplane?sslmode=verify-full", VERIFIED],
    ["postgres://127.0.0.1/keyplane?sslmode=verify-full", VERIFIED],
    ["postgres://db/keyplane?uselibpqcompat=true&sslmode=verify-full", VERIFIED],
    ["postgres://db/keyplane?uselibpqcompat=true&sslmode=require", UNVERIFIED],
    ["postgres://db/keyplane?sslmode=disable", { kind: "none", isLocal: false }],
    ["postgres://localhost/keyplane", LOCAL],
    ["postgres://keyplane@127.0.0.2:5433/keyplane", LOCAL],
    ["postgres://[::1]/keyplane", LOCAL],
    ["postgres://keyplane@/keyplane?host=/run/postgresql", LOCAL],
    ["postgres://db/keyplane?host=/run/postgresql", LOCAL],
    ["postgres://%2Frun%2Fpostgresql/keyplane", LOCAL],
    ["postgres://127.0.0.1/keyplane?sslmode=disable", LOCAL],
  ])("%s", (url, protection) => {
    expect(protectionOf({ url })).toEqual(protection);
  });

  test.each(["require", "verify-ca", "prefer"])(
    "sslmode=%s brings no warning of pg, which would name other ways out",
    (mode) => {
      const warn = vi.spyOn(process, "emitWarning");
      onTestFinished(() => warn.mockRestore());
      try {
        connectionConfig({ url: `postgres://db/keyplane?sslmode=${mode}` });
      } catch {
        // That it is refused is another test's.
      }
      expect(warn).not.toHaveBeenCalled();
    },
  );

  test("a file of authorities is what the certificate is verified against, in libpq's modes too", () => {
    for (const [parameters, kind] of [
      ["", "verified"],
      ["?sslmode=require", "verified"],
      ["?uselibpqcompat=true&sslmode=verify-ca", "unverified"],
    ]) {
      const location = { url: `postgres://db/keyplane${parameters}`, caFile };
      expect(protectionOf(location)).toMatchObject({ kind });
      expect(connectionConfig(location).ssl).toMatchObject({ ca: AUTHORITY });
    }
    expect(protectionOf({ url: `postgres://db/keyplane?sslrootcert=${encodeURIComponent(caFile)}` })).toEqual({
      kind: "verified",
      caFile,
    });
  });

  test.each(["", "\n", "no authority\n", "-----BEGIN CERT"])(
    "a file of authorities that holds %j is refused, in each mode that asks over TLS: Node would trust its own instead",
    (content) => {
      const empty = save("empty.crt", content);
      const parameters = ["", "?sslmode=verify-full", "?uselibpqcompat=true&sslmode=require"];
      for (const url of parameters.map((one) => `postgres://db/keyplane${one}`)) {
        expect(() => connectionConfig({ url, caFile: empty })).toThrow(DatabaseLocationError);
        expect(() => connectionConfig({ url, caFile: empty })).toThrow(`${empty}: there is no certificate in it`);
      }
      const named = `postgres://127.0.0.1/keyplane?sslrootcert=${encodeURIComponent(empty)}`;
      expect(() => connectionConfig({ url: named })).toThrow(`${empty}: there is no certificate in it`);
    },
  );

  test.each([
    ["postgres://db/keyplane?sslmode=prefer", /sslmode must be verify-full.*prefer, allow and no-verify are refused/],
    ["postgres://db/keyplane?sslmode=allow", /sslmode must be verify-full/],
    ["postgres://db/keyplane?sslmode=no-verify", /sslmode must be verify-full/],
    ["postgres://db/keyplane?uselibpqcompat=true&sslmode=prefer", /sslmode must be verify-full/],
    ["postgres://db/keyplane?sslmode=", /sslmode must be verify-full/],
    ["postgres://127.0.0.1/keyplane?sslmode=prefer", /sslmode must be verify-full/],
    ["postgres://db/keyplane?uselibpqcompat=true&sslmode=verify-ca", /sslrootcert/],
    ["postgres://db/keyplane?sslrootcert=/nowhere/ca.crt", /^ENOENT.*\/nowhere\/ca.crt/],
    ["postgres://db/keyplane?sslmode=verify-full&sslrootcert=system", /^sslrootcert=system .*leave it out/],
    ["postgres://db1,db2/keyplane", /^names several hosts.*name one that leads to the primary/],
    ["postgres://me:s3cret@db1:5432,db2:5432/keyplane", /^names several hosts/],
    ["postgres://me:s3cret@/keyplane?host=db1,db2", /^names several hosts/],
    ["postgres://db/keyplane#?sslmode=disable", /^must be a URL such as/],
    ["mysql://me:s3cret@db/keyplane", /^must be a URL such as/],
    ["postgres://me:s3cret@db:port/keyplane", /^must be a URL such as/],
  ])("refuses %s, and shows no password", (url, message) => {
    expect(() => connectionConfig({ url })).toThrow(DatabaseLocationError);
    expect(() => connectionConfig({ url })).toThrow(message);
    expect(() => connectionConfig({ url })).not.toThrow(/s3cret/);
  });
});

describe("c74: where the database is, in files", () => {
  test("is what stands in them now: another host, and another password with any character", () => {
    const url = { file: save("url", "postgres://keyplane@127.0.0.1:1/keyplane\n") };
    const passwordFile = save("password", "first\n");
    const location = { url, passwordFile };
    expect(connectionConfig(location)).toMatchObject({
      host: "127.0.0.1",
      port: 1,
      user: "keyplane",
      password: "first",
    });
    save("url", "postgres://other@127.0.0.2:2/keyplane");
    save("password", " a%b/c@d?e#f&g \r\n");
    expect(connectionConfig(location)).toMatchObject({ host: "127.0.0.2", user: "other", password: " a%b/c@d?e#f&g " });
  });

  test("is refused where it is missing, empty, or said twice, with the file's name and nothing of what is in it", () => {
    const none = join(folder, "none");
    const empty = save("empty", "\n");
    const url = "postgres://keyplane@127.0.0.1/keyplane";
    for (const [location, message] of [
      [{ url: { file: none } }, `the database's URL file: ENOENT: no such file or directory, open '${none}'`],
      [{ url: { file: empty } }, `the database's URL file, ${empty}: must be a URL such as`],
      [{ url, passwordFile: none }, `the database's password file: ENOENT: no such file or directory, open '${none}'`],
      [{ url, passwordFile: empty }, `the database's password file, ${empty}: there is no password in it`],
      [{ url, caFile: none }, `the database's CA file: ENOENT: no such file or directory, open '${none}'`],
      [{ url, caFile: empty }, `the database's CA file, ${empty}: there is no certificate in it`],
    ] as const) {
      const refused = messageOf(() => connectionConfig(location));
      expect(refused).toContain(message);
      // Also where a path is left out as what may be a token.
      expect(redact(refused)).toMatch(
        /^the database's (URL|password|CA) file[:,] .*(ENOENT|must be a URL|there is no)/,
      );
    }
    const passwordFile = save("password", "s3cret");
    const twice = "postgres://keyplane:s3cret@127.0.0.1/keyplane";
    expect(() => connectionConfig({ url: twice, passwordFile })).toThrow(/the URL holds a password, and a file/);
    expect(() => connectionConfig({ url: `${url}?sslrootcert=${caFile}`, caFile })).toThrow(/leave one out$/);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requiredDatabase } from "../../../cli/command/database-options.ts";
import { UsageError } from "../../../cli/command/usage-error.ts";

const DATABASE = "postgres://keyplane@127.0.0.1/keyplane";

describe("c74: where a command is given its database", () => {
  let folder: string;
  let urlFile: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "keyplane-options-"));
    urlFile = join(folder, "url");
    writeFileSync(urlFile, `${DATABASE}\n`);
    writeFileSync(join(folder, "nothing"), "");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("a flag for the URL or its file wins over the variables for both", () => {
    const variables = { KEYPLANE_DATABASE_URL: DATABASE };
    expect(requiredDatabase(variables, {})).toMatchObject({ url: DATABASE });
    expect(requiredDatabase(variables, { databaseUrlFile: urlFile })).toMatchObject({ url: { file: urlFile } });
    const ofPod = { KEYPLANE_DATABASE_URL_FILE: urlFile };
    expect(requiredDatabase(ofPod, {})).toMatchObject({ url: { file: urlFile } });
    expect(requiredDatabase(ofPod, { databaseUrl: DATABASE })).toMatchObject({ url: DATABASE });
  });

  test("what is missing, contradicts itself or cannot be read is refused, with the flag and its variable", () => {
    const refusal = (env: Record<string, string>, flags: Parameters<typeof requiredDatabase>[1] = {}) => {
      try {
        return requiredDatabase(env, flags);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
        return error instanceof Error ? error.message : error;
      }
    };
    expect(refusal({})).toMatch(/^--database-url is needed, or --database-url-file/);
    const both = /^give --database-url \(KEYPLANE_DATABASE_URL\) or --database-url-file .*, not both$/;
    expect(refusal({ KEYPLANE_DATABASE_URL: DATABASE, KEYPLANE_DATABASE_URL_FILE: urlFile })).toMatch(both);
    expect(refusal({}, { databaseUrl: DATABASE, databaseUrlFile: urlFile })).toMatch(both);
    const nowhere = join(folder, "nowhere");
    expect(refusal({ KEYPLANE_DATABASE_URL_FILE: nowhere })).toMatch(
      /^--database-url-file, or KEYPLANE_DATABASE_URL_FILE: the database's URL file: ENOENT: .*nowhere'$/,
    );
    expect(refusal({}, { databaseUrlFile: join(folder, "nothing") })).toMatch(/nothing: must be a URL such as/);
    expect(refusal({ KEYPLANE_DATABASE_PASSWORD_FILE: nowhere }, { databaseUrl: DATABASE })).toMatch(
      /ENOENT: .*nowhere'$/,
    );
  });
});

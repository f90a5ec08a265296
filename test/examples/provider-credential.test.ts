import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CREDENTIAL_VARIABLES, keepCredential } from "../../examples/quickstart/provider-credential.ts";
import { read } from "../architecture/sources.ts";

test("b363: the credential of one provider is none of another's, also where both are started on one folder", async () => {
  const data = mkdtempSync(join(tmpdir(), "keyplane-credential-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  for (const provider of CREDENTIAL_VARIABLES.keys()) {
    expect(await keepCredential(data, provider, undefined)).toBe(false);
    expect(await keepCredential(data, provider, " \n")).toBe(false);
    expect(await keepCredential(data, provider, `sk-of-${provider}`)).toBe(true);
  }
  for (const provider of CREDENTIAL_VARIABLES.keys()) {
    const [, secret = "", key = ""] =
      /credentialRef: \{ name: (.*), key: (.*) \}/.exec(read(`examples/${provider}/gateway.yaml`)) ?? [];
    expect(readFileSync(join(data, "secrets/research", secret, key), "utf8")).toBe(`sk-of-${provider}`);
  }
});

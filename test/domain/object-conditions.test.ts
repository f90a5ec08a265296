import { expect, test } from "vitest";
import { credentialsAccepted, gatewayCredentials } from "../../domain/object-conditions.ts";

test("a gateway says which upstreams are called without a credential, and which of these ask for one", () => {
  const { status, message } = gatewayCredentials([], ["local", "lab"]);
  expect([status, message]).toEqual([
    "True",
    "Every upstream that names a credential has it. Without credentialRef, and so called without a credential: local, lab.",
  ]);
  expect(gatewayCredentials([{ upstream: "u", secret: "s", key: "k" }], ["local"]).status).toBe("False");
  const asking = credentialsAccepted([{ upstream: "local", dialect: "openai", credential: undefined }]);
  expect(asking.message).toMatch(/: upstream local \(openai\) asks for one, and has no credentialRef\. /);
});

test("b422: a gateway says which credential would be a key of Keyplane, beside what is missing", () => {
  const missing = [
    { upstream: "a", secret: "s", key: "k" },
    { upstream: "b", secret: "anth", key: "api-key", writtenBy: "anth" },
  ];
  const { reason, message } = gatewayCredentials(missing, []);
  expect([reason, message]).toEqual([
    "CredentialNotFound",
    "There is no Secret s with data key k (upstream a). credentialRef of upstream b names Secret anth, which PlatformKey anth writes: its key would go to the provider. Name another Secret. Create the Secret that spec.upstreams[].credentialRef names, with that key.",
  ]);
});

test("b78: no condition shows a key that was pasted where a data key is named", () => {
  const named = { upstream: "u", secret: "provider", key: `inf_${"x".repeat(57)}` };
  const refusing = { upstream: "u", dialect: "openai", credential: named };
  for (const { message } of [gatewayCredentials([named], []), credentialsAccepted([refusing])]) {
    expect(message).toContain("data key inf_...");
    expect(message).not.toContain("xxxxxxxxxx");
  }
});

import { expect, test } from "vitest";
import { credentialsAccepted, gatewayCredentials } from "../../domain/object-conditions.ts";

test("b78: no condition shows a key that was pasted where a data key is named", () => {
  const named = { upstream: "u", secret: "provider", key: `inf_${"x".repeat(57)}` };
  for (const { message } of [gatewayCredentials([named]), credentialsAccepted([{ ...named, dialect: "openai" }])]) {
    expect(message).toContain("data key inf_...");
    expect(message).not.toContain("xxxxxxxxxx");
  }
});

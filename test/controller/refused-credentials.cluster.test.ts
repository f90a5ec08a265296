import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { describeWorldsOnKubernetes } from "./fixtures/kubernetes-setup.ts";
import { NAMESPACE, startWorld } from "./fixtures/world.ts";
import { gateway, heard, provider, withRefusedCredential } from "./refused-credentials.ts";

describeWorldsOnKubernetes("a gateway whose credential a provider refuses", (setup, kubernetes) => {
  withRefusedCredential(setup);

  it("is shown by kubectl describe, with the Secret that is to be changed, and stays Ready in kubectl get", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-1"), gateway);
    await heard(world, "refusedAt", 0);
    const ask = (verb: string) =>
      kubernetes().kubectl([verb, "modelgateway", "main", "--namespace", `${NAMESPACE}${world.tag}`]);
    const described = await until("it is described", async () => {
      const text = await ask("describe");
      return /Warning\s+CredentialRefused/.test(text) && /Reason:\s+CredentialRefused/.test(text) ? text : undefined;
    });
    expect(described).toMatch(/Status:\s+False\s+Type:\s+CredentialsAccepted/);
    expect(described).toContain("refuses data key api-key of Secret provider. Write the provider's present credential");
    expect(await ask("get")).toMatch(/^main +True +Ready /m);
  });
});

import { expect, test } from "vitest";
import { workloadRestarter } from "../../../../controller/cluster/kubernetes/workloads.ts";
import { startFakeApiServer, status } from "./fake-api-server.ts";

const DENIED = "ValidatingAdmissionPolicy 'pinned' with binding 'pinned' denied request: web is rolled out by hand";

test.concurrent.for([
  [400, "Refused"],
  [403, "Forbidden"],
  [422, "Refused"],
] as const)(
  "an admission control that denies a restart with %i has refused it for good",
  async ([code, error], context) => {
    const server = await startFakeApiServer((call) => call.answer(code, status(code, "", DENIED)));
    context.onTestFinished(() => server.close());
    const restart = workloadRestarter(server.api, "test", new AbortController().signal);
    const restarting = restart("dev", { kind: "Deployment", name: "web" }, { name: "version", value: "2" });
    await expect(restarting).rejects.toMatchObject({
      code: error,
      message: `while restarting Deployment dev/web: ${DENIED}`,
    });
  },
);

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, type TestContext } from "vitest";
import type { Kubernetes } from "../../../env/kubernetes/client.ts";
import { describeOnKubernetes } from "../../../env/kubernetes/of-run.ts";
import { until } from "../../../env/until.ts";

const PROGRAM = join(import.meta.dirname, "lease-process.ts");

type Candidate = { readonly child: ChildProcess; readonly lines: string[]; says(line: string): boolean };

/** Starts processes that want to lead in a namespace of their own. */
async function election(context: TestContext, kubernetes: Kubernetes) {
  const namespace = `lease-${Math.random().toString(36).slice(2, 10)}`;
  const post = (path: string, body: object) => kubernetes.request("POST", path, { body: JSON.stringify(body) });
  await post("/api/v1/namespaces", { metadata: { name: namespace } });
  await post(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: "leader" } });
  return {
    async enter(identity: string): Promise<Candidate> {
      const args = [PROGRAM, kubernetes.kubeconfigPath, namespace, identity];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
      context.onTestFinished(() => void child.kill("SIGKILL"));
      return { child, lines, says: (line) => lines.some((one) => one.startsWith(line)) };
    },
    async leader(): Promise<unknown> {
      const { body } = await kubernetes.request("GET", `/api/v1/namespaces/${namespace}/configmaps/leader`);
      return (body as { data?: { leader?: string } }).data?.leader;
    },
  };
}

describeOnKubernetes("leader election", (kubernetes) => {
  describe.concurrent("lets one lead:", () => {
    it("a leader that ends gives the lease back, and the next one need not wait", async (context) => {
      const { enter, leader } = await election(context, kubernetes());
      const first = await enter("first");
      await until("the first leads", () => first.says("wrote"));
      const second = await enter("second");
      await until("the second is refused twice", async () => (await leader()) === "first");
      first.child.kill("SIGTERM");
      await until("the first has ended", () => first.says("ended"));
      await until("the second leads", () => second.says("wrote"));
    });

    it("c21: a leader that was paused is succeeded, and writes nothing when it goes on", async (context) => {
      const { enter, leader } = await election(context, kubernetes());
      const first = await enter("first");
      await until("the first leads", () => first.says("wrote"));
      const second = await enter("second");
      first.child.kill("SIGSTOP");
      const pausedAt = performance.now();
      await until("the second leads", () => second.says("wrote"));
      expect(performance.now() - pausedAt).toBeGreaterThan(10_000);
      const said = first.lines.length;
      first.child.kill("SIGCONT");
      await until("the first has noticed", () => first.says("failed LeadershipLostError"));
      // What had left before the pause may still be answered.
      expect(first.lines.slice(said).filter((line) => line === "wrote").length).toBeLessThanOrEqual(1);
      expect(await leader()).toBe("second");
    });

    it("c22: a leader whose event loop stood still stops by itself before it writes again", async (context) => {
      const { enter } = await election(context, kubernetes());
      const first = await enter("first");
      await until("the first leads", () => first.says("wrote"));
      first.child.kill("SIGUSR2");
      await until("the first has noticed", () => first.says("failed LeadershipLostError"));
      const after = first.lines.slice(first.lines.indexOf("stood still"));
      expect(after[0]).toBe("stood still");
      // What had left before is still answered.
      expect(after.filter((line) => line === "wrote").length).toBeLessThanOrEqual(1);
    });
  });
});

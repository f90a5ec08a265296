import { expect, test } from "vitest";
import { withoutServiceLinks } from "../../domain/environment.ts";

test("a service link of Kubernetes in a variable of ours is ignored, and nothing else", () => {
  const env = { KEYPLANE_HOST: "::", OTHER_PORT: "tcp://10.0.0.7:8080", PATH: "/bin" };
  expect(withoutServiceLinks({ ...env, KEYPLANE_PORT: "tcp://10.0.0.7:8080" })).toEqual(env);
});

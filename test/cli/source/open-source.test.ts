import { describe, expect, test } from "vitest";
import { chooseSource } from "../../../cli/source/open-source.ts";

describe("the source that a command reads", () => {
  test("is the one that a flag names, whatever the variables say", () => {
    const env = { KEYPLANE_SERVER: "https://a.example", KEYPLANE_DATA: "b", KEYPLANE_KUBECONFIG: "c" };
    expect(chooseSource(env, { data: "d" })).toEqual({ from: "data", data: "d" });
    expect(chooseSource(env, { kubeconfig: "k" })).toEqual({ from: "kubeconfig", kubeconfig: "k" });
    expect(chooseSource(env, { server: "https://s.example" })).toEqual({ from: "server", server: "https://s.example" });
  });

  test("is by the variables the server, then the folder, then the cluster", () => {
    const cluster = { KEYPLANE_KUBECONFIG: "c" };
    const folder = { ...cluster, KEYPLANE_DATA: "b" };
    expect(chooseSource({ ...folder, KEYPLANE_SERVER: "https://a.example" }, {}).from).toBe("server");
    expect(chooseSource(folder, {}).from).toBe("data");
    expect(chooseSource(cluster, {})).toEqual({ from: "kubeconfig", kubeconfig: "c" });
  });

  test("is kubectl's own cluster only where a context is asked for", () => {
    expect(chooseSource({}, { context: "prod" })).toEqual({ from: "kubeconfig", context: "prod" });
    expect(() => chooseSource({ KUBECONFIG: "theirs" }, {})).toThrow("say where to look: --data DIR");
  });

  test("is not guessed where flags name several", () => {
    expect(() => chooseSource({}, { data: "d", context: "prod" })).toThrow("give one of them");
    expect(() => chooseSource({}, { data: "d", server: "https://s.example" })).toThrow("give one of them");
  });
});

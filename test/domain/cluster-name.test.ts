import { expect, test } from "vitest";
import { clusterNameOfFolder, MAX_CLUSTER_NAME, parseClusterName } from "../../domain/cluster-name.ts";

test("a cluster's name is what people call it, on one line and of a length that fits beside a key's", () => {
  expect(parseClusterName(" Produktion (Süd) ")).toBe("Produktion (Süd)");
  expect(parseClusterName("é".repeat(MAX_CLUSTER_NAME))).toHaveLength(MAX_CLUSTER_NAME);
  for (const text of ["", "  ", "x".repeat(MAX_CLUSTER_NAME + 1), "a\nb", "a\u0000b", "\ud800"]) {
    expect([text, parseClusterName(text)]).toEqual([text, undefined]);
  }
});

test("a cluster of files is called as its folder is, as far as that fits", () => {
  expect(clusterNameOfFolder("keys")).toBe("keys");
  expect(clusterNameOfFolder("a\nb")).toBe("ab");
  expect(clusterNameOfFolder("😀".repeat(100))).toBe("😀".repeat(MAX_CLUSTER_NAME));
  expect(clusterNameOfFolder("")).toBeUndefined();
});

import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What would be waited for at the end, had it not begun at the beginning. */
export const LONGEST = [
  "test/cli/data-folders.faults.test.ts",
  "test/cli/lost-files.faults.test.ts",
  "test/controller/cluster/files/manifests/careless.test.ts",
  "test/controller/cluster/kubernetes/namespaces.cluster.test.ts",
  "test/e2e/up.journeys.test.ts",
  "test/faults/every-point.cluster.test.ts",
  "test/faults/kill.faults.test.ts",
  "test/infra/pulumi/crash.pulumi.test.ts",
  "test/infra/rbac.cluster.test.ts",
  "test/server/key-index/replica-model.test.ts",
];

/** The longest files first: a bare clone has no durations of an earlier run to go by, and vitest goes by sizes there. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((file) => moduleId.endsWith(`/${file}`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

import { describeWorldsOnKubernetes } from "./fixtures/kubernetes-setup.ts";
import { largeLibrary } from "./library-deletion.ts";

describeWorldsOnKubernetes("a large library", largeLibrary);

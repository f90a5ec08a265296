import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { takeOvers } from "./take-over.ts";

describeWorldsOnKubernetes("a key that a declaration takes over", takeOvers);

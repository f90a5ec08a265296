import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { faultsAtEveryPoint } from "./every-point.ts";

describeWorldsOnKubernetes("whatever goes wrong after whichever effect,", faultsAtEveryPoint);

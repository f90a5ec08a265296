import { describeWorlds } from "../controller/fixtures/setup.ts";
import { faultsAtEveryPoint } from "./every-point.ts";

describeWorlds(
  "whatever goes wrong after whichever effect,",
  faultsAtEveryPoint(() => true),
);

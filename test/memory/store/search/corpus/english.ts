import { type Entry, entry } from "./corpus.ts";

export const ENGLISH: readonly Entry[] = [
  entry(
    "The staging database is restored from the Sunday snapshot by restore-staging.sh, which takes about forty minutes.",
    [
      ["question", "How do we get the staging database back?"],
      ["code", "restore-staging.sh"],
      ["typo", "stagging databse"],
    ],
  ),
  entry("Invoices are numbered without gaps; the accountant rejects a quarter with a missing number.", [
    ["words", "invoices accountant"],
    ["prefix", "invoi"],
  ]),
  entry("Rotate the webhook signing secret with rotateSigningSecret() before the contract with the courier ends.", [
    ["code", "rotateSigningSecret"],
    ["code", "signing_secret"],
    ["part", "hook courier"],
  ]),
  entry("Feature flags live in config/flags/production.yaml and are read once at start.", [
    ["code", "config/flags/production.yaml"],
    ["code", "flags production"],
    ["question", "where are the feature flags kept?"],
  ]),
  entry("The retry budget of the payment client is three attempts within ten seconds, then the order is parked.", [
    ["question", "How many times does the payment client try again?"],
    ["typo", "paymnet retry"],
  ]),
  entry(
    "Grafana runs at https://grafana.intern.example.org:3000/d/latency/overview for people in the office network.",
    [
      ["code", "grafana.intern.example.org"],
      ["code", "latency/overview"],
      ["typo", "grafanna"],
    ],
  ),
  entry("Margaret prefers decisions in writing, one page at most, two days before the meeting.", [
    ["question", "What does Margaret want before a meeting?"],
    ["typo", "Magaret"],
  ]),
  entry("The thumbnailer crashes on progressive JPEGs larger than 40 megapixels; we downscale first.", [
    ["part", "nailer"],
    ["prefix", "thumbn"],
  ]),
  entry("Kubernetes nodes are drained on the first Tuesday of the month between 06:00 and 08:00 UTC.", [
    ["prefix", "kube drain"],
    ["inflection", "draining a node"],
  ]),
  entry("CVE-2026-31337 does not concern us: the vulnerable XML parser is not linked in.", [
    ["code", "CVE-2026-31337"],
    ["code", "31337"],
  ]),
  entry("The mobile team renamed getUserProfileById to loadProfile in release 8.4.", [
    ["code", "UserProfile"],
    ["code", "getuserprofilebyid"],
  ]),
  entry("Backups are encrypted with age; the recipient's key is in the safe of the Zürich office.", [
    ["accent", "Zurich safe"],
    ["question", "Which tool encrypts our backups?"],
  ]),
  entry("We do not use ORM lazy loading, since it hid four hundred queries behind one page.", [
    ["words", "lazy loading"],
  ]),
  entry("The naïve Bayes filter was replaced by a façade over the vendor's spam score.", [
    ["accent", "naive facade"],
    ["inflection", "filters replaced"],
  ]),
  entry("Support answers within four hours on workdays, and the pager covers the rest.", [["prefix", "workd pag"]]),
  entry("Latency alarms fire at the 99th percentile above 300 ms for five minutes.", [["typo", "percantile"]]),
  entry("Terraform state is locked in a bucket named tfstate-eu-central-1; never unlock it by hand.", [
    ["code", "tfstate-eu-central-1"],
    ["part", "formstate eu-central"],
    ["prefix", "terraf"],
  ]),
  entry("The lunch order closes at half past ten.", [["typo", "lucnh order"]], { tags: ["canteen"] }),
  entry("Nobody but the release captain merges on Fridays.", [["source", "handbook/releases.md"]], {
    source: "handbook/releases.md",
  }),
  entry("The old importer must stay until the archive has been copied.", [["source", "carol@example.org"]], {
    source: "mail from carol@example.org",
  }),
  entry("Two of the three printers take A3.", [["source", "hardware-inventory"]], { tags: ["hardware-inventory"] }),
  entry("Error E_QUOTA_EXCEEDED means that the tenant has more than 5,000 open uploads.", [
    ["code", "E_QUOTA_EXCEEDED"],
    ["code", "quota_exceed"],
  ]),
  entry("Run src/tools/reindex.ts with --dry-run before each reindexing of the catalogue.", [
    ["code", "src/tools/reindex.ts"],
    ["inflection", "catalogues"],
  ]),
  entry("The customer in Oslo, Bjørn Ødegård, wants reports as CSV with semicolons.", [["accent", "Bjorn Odegard"]]),
  entry("Session cookies are called kp_session and live for twelve hours.", [["code", "kp_session"]]),
  entry("Uploads go through the antivirus queue; a stuck worker shows as growing av_queue_depth.", [
    ["code", "queue_depth"],
  ]),
  entry("The licence of the map tiles forbids caching for more than thirty days.", [["typo", "lisence of map tiles"]]),
  entry("Integration tests need port 54329 free.", [["code", "54329"]]),
  entry("Dark mode is postponed to spring."),
  entry("The microservice for geocoding is the only one in Rust."),
];

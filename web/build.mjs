// Bundles src/ into python/linkpool/report/bundle. The first line of each file names what it was made of, so that a
// test without Node can tell whether the bundle is fresh (tests/test_report.py computes the same hash).
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const sources = [
  ...readdirSync(`${here}src`).map((name) => `src/${name}`),
  "build.mjs",
  "package-lock.json",
  "package.json",
  "tsconfig.json",
].sort();
const hash = createHash("sha256");
for (const name of sources) {
  hash.update(`${name}\n`);
  hash.update(readFileSync(here + name));
}
const banner = `/* built from web/, sha256 ${hash.digest("hex")} */`;

await build({
  absWorkingDir: here,
  entryPoints: { report: "src/main.ts" },
  outdir: "../python/linkpool/report/bundle",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  banner: { js: banner, css: banner },
});

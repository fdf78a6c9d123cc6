/** One of the packages that bring the HTTP engine, as it is installed. */
export type EnginePackage = {
  /** The least glibc its builds for Linux load with; no manifest says it. */
  readonly glibcMin: string;
  /** The builds there are of it, `linux-x64-24`: platform, architecture, major version of Node. */
  readonly builds: readonly string[];
};

/** What decides which build runs. */
export type Machine = {
  /** As process.versions.node has it. */
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  /** Undefined where there is none: on musl, or on another system than Linux. */
  readonly glibc: string | undefined;
};

/** Why no build runs, and the way out. */
export type NoEngine = { readonly problem: string; readonly advice: string };

/** What documents and images recommend, then the newest that has a build for an older glibc. */
const recommendedMajors = [24, 22];

/** Says why no build of the HTTP engine runs here. `installed` are the builds in node_modules, `causes` what loading them said. */
export function explainNoEngine(
  machine: Machine,
  packages: readonly EnginePackage[],
  installed: readonly string[],
  causes: readonly string[],
): NoEngine {
  const { node, platform, arch, glibc } = machine;
  const system = `${platform}-${arch}`;
  const major = node.split('.', 1)[0] ?? '';
  const build = `${system}-${major}`;
  if (packages.every(({ builds }) => builds.length === 0)) {
    return { problem: 'node_modules hold no HTTP engine', advice: 'run npm ci' };
  }
  if (majorsOf(packages, system).length === 0) {
    return { problem: `there is no build of the HTTP engine for ${system}`, advice: 'run gateways on Linux on x64' };
  }
  if (platform === 'linux' && glibc === undefined) {
    const advice = 'use a system with glibc, such as Debian, Ubuntu or an image made of them';
    return { problem: 'there is no build of the HTTP engine for a system without glibc, such as Alpine', advice };
  }
  const made = packages.filter(({ builds }) => builds.includes(build));
  if (!made.some((each) => loadsWith(each, glibc))) {
    const withGlibc = glibc === undefined ? `on ${system}` : `with glibc ${glibc}`;
    const majors = majorsOf(
      packages.filter((each) => loadsWith(each, glibc)),
      system,
    );
    const best = recommendedMajors.find((each) => majors.includes(each)) ?? majors[0];
    const [newest] = made.length === 0 && best === undefined ? packages : made;
    const ways = [
      ...(best === undefined ? [] : [`Node ${best}`]),
      ...(newest === undefined ? [] : [`a system with glibc ${newest.glibcMin} or newer`]),
    ];
    return {
      problem: `there is no build of the HTTP engine for Node ${node} ${withGlibc}`,
      advice: `use ${ways.join(', or ')}`,
    };
  }
  if (!installed.includes(build)) {
    const others = installed.map((each) => each.split('-')).map(([os, cpu, of]) => `Node ${of} on ${os}-${cpu}`);
    const held =
      others.length === 0 ? 'no build of the HTTP engine' : `the HTTP engine for ${others.join(' and ')} only`;
    return {
      problem: `node_modules hold ${held}, and this is Node ${node} on ${system}`,
      advice: 'run npm ci with this Node, on this machine',
    };
  }
  return { problem: `the HTTP engine does not load (${causes.join('; ')})`, advice: 'run npm ci' };
}

/** The major versions of Node that have a build for a system, newest first. */
function majorsOf(packages: readonly EnginePackage[], system: string): number[] {
  const builds = packages.flatMap((each) => each.builds).filter((each) => each.startsWith(`${system}-`));
  return [...new Set(builds.map((each) => Number(each.slice(system.length + 1))))].sort((a, b) => b - a);
}

function loadsWith({ glibcMin }: EnginePackage, glibc: string | undefined): boolean {
  return glibc === undefined || !isOlder(glibc, glibcMin);
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = than.split('.').map(Number);
  return major === majorMin ? minor < minorMin : major < majorMin;
}

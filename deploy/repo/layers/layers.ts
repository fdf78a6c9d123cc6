/**
 * The order of folders inside each app, lowest first: a file imports its own folder and those that stand before it.
 * Files directly in an app's folder stand above all of them. A folder with code that is not named here is an error, so
 * that the author of a room decides where it stands. `a/*` stands for every folder directly in `a` without a line of its
 * own; these do not import each other.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  shared: [
    'runtime',
    'runtime/metrics',
    'runtime/status',
    'command-line',
    'limits',
    'json',
    'contracts',
    'contracts/config',
    'contracts/ingest',
    'contracts/events',
    'nats/connection',
    'nats/streams',
    'nats/users',
    'nats/messages',
    'nats/publish',
    'nats/consume',
    'nats/erasures',
    'nats/quarantine',
    'nats/buckets',
    'nats/monitor',
    'postgres/migrations',
    'postgres/roles',
    'postgres',
    'visitors',
    'admission',
    'routing/values',
    'routing/modifications',
    'routing/personal-data',
    'routing/predicate',
    'routing/mapping',
    'routing/consent',
    'routing/tracking-plan',
    'routing',
    'experiments',
    'web-snippet/tags',
    'web-snippet',
    'egress',
    'egress/oauth',
    'egress/protocols',
    'destinations/sdk',
    'destinations/*',
    'destinations',
    'sources/sdk',
    'sources/providers',
    'sources',
    'collections',
    'doctor',
    'embedded/machine',
    'embedded/nats',
    'embedded/postgres',
  ],
  gateway: [
    'commit',
    'http',
    'payload',
    'ingest',
    'webhook',
    'routes/openapi',
    'routes/batch',
    'routes/compat',
    'routes/experiments',
    'routes/snippet',
    'routes',
    'status',
  ],
  pipeline: [
    'workers/worker',
    'workers/recent',
    'workers/resolve',
    'workers/results',
    'workers/dispatch/events',
    'workers/dispatch/waiting',
    'workers/dispatch/health',
    'workers/dispatch/sources',
    'workers/dispatch/admission',
    'workers/dispatch/sending',
    'workers/dispatch/settlement',
    'workers/dispatch/lifecycle',
    'workers/dispatch',
    'workers',
    'threads',
    'supervisor',
    'cluster',
    'jobs/backlog',
    'jobs/retention',
    'jobs/replay',
    'status',
  ],
  // Its features stand side by side above these: see below.
  'control-plane': ['store', 'api', 'audit', 'draft'],
  // What runs in the browser: an app of its own.
  'control-plane/console': [
    'api',
    'design',
    'forms',
    'shell',
    'overview',
    'destinations',
    'events',
    'visitors',
    'sources',
    'rules',
    'tracking-plan',
    'experiments',
    'account',
    'keys',
    'draft',
    'system',
  ],
  deploy: [
    'repo/build',
    'repo/layers',
    'repo/contributing',
    'repo/mutants',
    'repo/fuzz',
    'repo/dependencies',
    'grafana',
    'prometheus',
    'repo/destinations',
    'local/demo-site',
    'local/sink',
    'docker',
    'local',
    'local/libraries',
    'cli/doctor',
    'cli/compare-counts',
    'cli/compare-kinds',
    'cli/upgrade-check',
    'cli/dead-letters',
    'cli/verify-certificate',
    'repo/environment',
    'repo/sources',
    'repo/console',
    'docs',
    'repo',
    'docs/site',
  ],
  bench: [
    'machine',
    'result',
    'report',
    'system',
    'config',
    'fill',
    'load',
    'sink',
    'whole-path',
    'sustained',
    'peers',
    'micro',
    'tune',
    'neighbours/attacks',
    'neighbours',
    'scenarios',
    'compare',
    'faults/judge',
    'faults/stack',
    'faults/families',
    'faults/chaos',
    'faults',
  ],
};

/**
 * Features: folders that stand side by side above the layers of their app. Each imports those layers, and of its siblings
 * the ones it names. An edge that no import needs is an error, as is an import without its edge.
 */
export const features: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'control-plane': {
    account: ['publishing'],
    activity: ['health', 'publishing', 'tracking-plan', 'versions'],
    bootstrap: ['account', 'destinations', 'keys', 'sources', 'versions'],
    collections: [],
    compat: ['collections', 'experiments', 'publishing', 'sources', 'versions'],
    'console-host': [],
    destinations: ['collections', 'health'],
    erasures: ['destinations'],
    events: ['destinations', 'health', 'versions'],
    experiments: ['collections', 'versions'],
    'experiments/assignment': ['publishing'],
    health: ['publishing'],
    keys: [],
    'log-search': ['destinations', 'events', 'publishing', 'versions'],
    operate: ['health', 'publishing'],
    publishing: [],
    quarantine: [],
    replays: ['destinations', 'publishing'],
    rotation: ['publishing'],
    rules: ['collections', 'events', 'keys', 'versions'],
    sessions: ['keys'],
    sources: ['collections', 'health', 'publishing'],
    'tracking-plan': ['events', 'versions'],
    versions: ['account', 'destinations', 'health', 'keys', 'publishing', 'quarantine', 'sources'],
    visitors: ['erasures', 'events', 'quarantine'],
  },
};

/**
 * What only some folders import: a package, or a file of ours. Tests may look into a file, but are no exception where it
 * is a package.
 */
export const reserved: Readonly<Record<string, readonly string[]>> = {
  nats: ['shared/nats', 'bench'],
  'shared/nats/connection/client.ts': ['shared/nats', 'bench'],
};

/** The apps each app may import. Nothing imports the bench, and the bench alone imports what deploys. */
export const walls: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  gateway: ['shared'],
  pipeline: ['shared'],
  'control-plane': ['shared'],
  'control-plane/console': [],
  deploy: ['shared', 'gateway', 'pipeline', 'control-plane'],
  bench: ['shared', 'gateway', 'pipeline', 'control-plane', 'deploy'],
};

/**
 * Files directly in an app's folder put the app together. Each imports at most this many modules, apart from lists, whose
 * purpose is to name all of something.
 */
export const roots = {
  apps: ['gateway', 'pipeline', 'control-plane'],
  modulesMax: 24,
  lists: ['control-plane/endpoints.ts', 'control-plane/env.ts'],
} as const;

/**
 * Lines of ours that a process may load at its start. What only some installations need is imported when they need it
 * (`LateCode` in the gateway), and what only compiles or checks rules stands apart from the shapes that every service reads.
 */
export const linesMax: Readonly<Record<string, number>> = { 'gateway/main.ts': 20_000 };

/**
 * The rooms of `shared` each app may load, directly or through other files. A room covers its folders; a folder or a file
 * stands for itself. A wrong import then fails the check instead of making a process load what it never uses.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  gateway: [
    'admission',
    'collections',
    'contracts',
    // A source of Facebook's leads answers as the Graph API does, and names events as the catalogue does.
    'destinations/facebook/errors.ts',
    'destinations/facebook/graph-api.ts',
    'destinations/sdk/answers.ts',
    'destinations/sdk/standard-events.ts',
    'doctor',
    'experiments',
    'json',
    'limits',
    'nats',
    // The logic of a tag manager's triggers is compiled for pages.
    'routing/predicate',
    'routing/values',
    'runtime',
    'sources',
    'visitors/clean-json.ts',
    'web-snippet',
  ],
  pipeline: [
    'admission',
    'collections',
    'contracts',
    'destinations',
    'doctor',
    'egress',
    'experiments',
    'json',
    'limits',
    'nats',
    'postgres',
    'routing',
    'runtime',
    'sources',
    'visitors',
    // It checks the collections of tag managers, as it reads every collection.
    'web-snippet/tags',
  ],
  'control-plane': [
    'admission',
    'collections',
    'command-line',
    'contracts',
    'destinations',
    'doctor',
    'egress',
    'experiments',
    'json',
    'limits',
    'nats',
    'postgres',
    'routing',
    'runtime',
    'sources',
    'visitors',
    'web-snippet',
  ],
};

/** A part of the code whose tests have to notice nearly every change of it. */
export type Room = {
  readonly name: string;
  readonly files: readonly string[];
  /**
   * The folder whose tests alone judge the room, which then includes mutants of code that runs at import. By default
   * all unit tests that import the room judge it.
   */
  readonly testsIn?: string;
};

/** Minimum percentage of a room's mutants that its tests must notice. */
export const scoreMin = 85;

/** Pure code that decides what is stored, sent, shown or allowed. */
export const rooms: readonly Room[] = [
  { name: 'retry policy', files: ['pipeline/workers/dispatch/settlement/retry-policy.ts'] },
  { name: 'health window', files: ['pipeline/workers/dispatch/health/health-window.ts'] },
  { name: 'draft and diff', files: ['control-plane/versions/diff.ts'] },
  { name: 'bucketing', files: ['shared/experiments/bucketing.ts'] },
  { name: 'keys and scopes', files: ['control-plane/keys/scopes.ts', 'control-plane/keys/api-key.ts'] },
  {
    name: 'modifications',
    files: ['digests', 'urls'].map((name) => `shared/routing/modifications/${name}.ts`),
  },
  {
    name: 'roles',
    files: ['control-plane/keys/roles.ts'],
    testsIn: 'control-plane/keys',
  },
  {
    name: 'sealing',
    files: ['secrets', 'signed-config'].map((name) => `shared/contracts/config/${name}.ts`),
    testsIn: 'shared/contracts/config',
  },
  {
    name: 'limits',
    files: ['concurrency-limit', 'cost-budget', 'fair-share', 'quota', 'rate-limit'].map(
      (name) => `shared/limits/${name}.ts`,
    ),
    testsIn: 'shared/limits',
  },
  {
    name: 'placeholder identifiers',
    files: ['shared/contracts/events/placeholder-identifier.ts'],
    testsIn: 'shared/contracts/events',
  },
  {
    name: 'consent',
    files: ['shared/routing/consent/compile-consent.ts'],
    testsIn: 'shared/routing/consent',
  },
  {
    name: 'consent signals',
    files: ['bits', 'consent-cookies', 'consent-mode', 'consent-signals', 'gpp-string', 'region', 'tc-string'].map(
      (name) => `shared/routing/consent/${name}.ts`,
    ),
    testsIn: 'shared/routing/consent',
  },
  {
    name: 'tracking plan',
    files: ['compile-tracking-plan', 'describe-hit', 'find-places', 'judged-envelope', 'plan-path', 'rule-types'].map(
      (name) => `shared/routing/tracking-plan/${name}.ts`,
    ),
    testsIn: 'shared/routing/tracking-plan',
  },
  {
    name: 'codecs',
    files: [
      'checkpoint',
      'compressed-frame',
      'dead-letter',
      'event-hash',
      'frame',
      'partition',
      'quarantine',
      'raw-event',
      'resolved-frame',
      'retry-record',
    ].map((name) => `shared/contracts/events/${name}.ts`),
    testsIn: 'shared/contracts',
  },
  {
    name: 'identity and merges',
    files: [
      'account-visitors',
      'apply-given',
      'identify-visitor',
      'identity-limits',
      'identity-rules',
      'is-erased',
      'owned-identities',
      'plan-visitors',
      'server-set',
      'visitor-identity',
      'working-visitor',
    ].map((name) => `shared/visitors/${name}.ts`),
    testsIn: 'shared/visitors',
  },
  {
    name: 'bytes of JSON',
    files: ['byte-writer', 'name-table', 'reused-writers'].map((name) => `shared/json/${name}.ts`),
    testsIn: 'shared/json',
  },
];

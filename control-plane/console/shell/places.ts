/** A page of the menu, and the scope that it needs. */
export type Place = { readonly to: string; readonly label: string; readonly scope: string };

/** The pages of the menu, in its order. */
export const places: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: 'Monitor',
    places: [
      { to: '/', label: 'Overview', scope: 'activity:find' },
      { to: '/map', label: 'Map', scope: 'activity:find' },
      { to: '/events', label: 'Events', scope: 'event:list' },
      { to: '/visitors', label: 'Visitors', scope: 'visitor:find' },
      { to: '/erasures', label: 'Erasures', scope: 'erasure:list' },
    ],
  },
  {
    title: 'Configure',
    places: [
      { to: '/sources', label: 'Sources', scope: 'source:list' },
      { to: '/destinations', label: 'Destinations', scope: 'destination:list' },
      { to: '/rules', label: 'Rules', scope: 'mappings:list' },
      { to: '/tracking-plan', label: 'Tracking plan', scope: 'violation:list' },
      { to: '/experiments', label: 'Experiments', scope: 'experiments:list' },
      { to: '/draft', label: 'Draft', scope: 'version:find' },
      { to: '/versions', label: 'Versions', scope: 'version:list' },
    ],
  },
  {
    title: 'Run',
    places: [
      { to: '/account', label: 'Account', scope: 'account:find' },
      { to: '/users', label: 'Users', scope: 'user:list' },
      { to: '/keys', label: 'API keys', scope: 'key:list' },
      { to: '/audit', label: 'Audit', scope: 'audit:list' },
      { to: '/system', label: 'System', scope: 'system:find' },
    ],
  },
];

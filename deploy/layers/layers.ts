/**
 * The order of folders inside each app, lowest first: a file imports its own folder and those that stand before it.
 * Files directly in an app's folder stand above all of them. A folder with code that is not named here is an error, so
 * that whoever makes a room decides where it stands.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  'control-plane': [
    'store',
    'api',
    'audit',
    'draft',
    'collections',
    'publishing',
    'health',
    'destinations',
    'keys',
    'sources',
    'versions',
    'events',
    'visitors',
    'replays',
    'experiments',
    'experiments/assignment',
    'bootstrap',
  ],
};

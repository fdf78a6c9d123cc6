import { fileURLToPath } from 'node:url';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { removeStale } from './remove-stale.ts';

// The second half of a build, run by what the compiler has just written.
await removeStale(fileURLToPath(topFolder), fileURLToPath(new URL('dist/', topFolder)));

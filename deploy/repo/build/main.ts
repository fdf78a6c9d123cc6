import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { buildConsole } from './build-console.ts';
import { bundlePackages } from './bundle-packages.ts';
import { minifyPageScripts } from './minify-page-script.ts';
import { removeStale } from './remove-stale.ts';
import { writeReplyTypes } from './write-reply-types.ts';

// The second half of a build, which runs from the compiler's output.
const build = fileURLToPath(new URL('dist/', topFolder));
await removeStale(fileURLToPath(topFolder), build);
await bundlePackages(build);
await minifyPageScripts();
await writeReplyTypes(fileURLToPath(topFolder), build);
await buildConsole(fileURLToPath(topFolder), build);

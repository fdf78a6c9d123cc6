import type { Endpoint } from '../api/define-endpoint.ts';
import { allowedEventEndpoints } from './allowed-events.ts';
import { consentSettingEndpoints } from './consent-settings.ts';
import { dataGovernanceEndpoints } from './data-governance.ts';
import { defaultMappingEndpoints } from './default-mappings.ts';
import { experimentLifecycleEndpoints } from './experiment-lifecycle.ts';
import { experimentResultEndpoints } from './experiment-results.ts';
import { experimentSettingsEndpoints } from './experiment-settings.ts';
import { experimentVariantEndpoints } from './experiment-variants.ts';
import { experimentEndpoints } from './experiments.ts';
import { mappingVariableEndpoints } from './mapping-variables.ts';
import { mappingEndpoints } from './mappings.ts';
import { getSourceTokens } from './source-tokens.ts';
import { versionEndpoints } from './versions.ts';

/**
 * Endpoints for which the platform library uses another address, or another shape, than Sluice. Each of them translates
 * to one of Sluice's own endpoints and stores nothing itself.
 */
export const platformEndpoints: readonly Endpoint[] = [
  ...versionEndpoints,
  getSourceTokens,
  ...allowedEventEndpoints,
  ...dataGovernanceEndpoints,
  ...consentSettingEndpoints,
  ...mappingVariableEndpoints,
  ...mappingEndpoints,
  ...defaultMappingEndpoints,
  ...experimentSettingsEndpoints,
  ...experimentEndpoints,
  ...experimentLifecycleEndpoints,
  ...experimentResultEndpoints,
  ...experimentVariantEndpoints,
];

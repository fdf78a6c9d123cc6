import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import { Code } from '../design/code.tsx';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import type { ExperimentSettings } from './experiment.ts';

/** The code with which pages request a visitor's variant. */
export function AskCard({ experimentKey }: { readonly experimentKey: string }): ReactElement {
  const settings = useList<ExperimentSettings>('/collections/experimentSettings?limit=1');
  const mayCreate = useScope('experimentSettings:create');
  const create = useChange(() => request('POST', '/collections/experimentSettings', {}));
  const mayUpdate = useScope('experimentSettings:update');
  const turnOn = useChange((id: string) =>
    request('PATCH', `/collections/experimentSettings/${id}`, { isEnabled: true }),
  );
  const [own] = settings.entities;
  return (
    <Card title="Use it in your pages">
      <Waiting query={settings} />
      {settings.isSuccess && own === undefined ? (
        <>
          <p>Pages request variants with the account's experiment token, which is not a secret. None exists yet.</p>
          <ErrorNote error={create.error} />
          {mayCreate ? (
            <div className="row">
              <button type="button" disabled={create.isPending} onClick={() => create.mutate(undefined)}>
                Create the token
              </button>
            </div>
          ) : null}
        </>
      ) : null}
      {own === undefined ? null : (
        <>
          {own.isEnabled ? null : (
            <div className="note warn">
              <p>Experiments are disabled for this account: no variants are assigned.</p>
              {mayUpdate ? (
                <div className="row">
                  <button type="button" disabled={turnOn.isPending} onClick={() => turnOn.mutate(own.id)}>
                    Enable them in the draft
                  </button>
                </div>
              ) : null}
              <ErrorNote error={turnOn.error} />
            </div>
          )}
          <p className="soft">
            The token works once you publish the draft. <Link to="/draft">View the draft</Link>
          </p>
          <Code
            label="With JavaScript"
            text={`const answer = await fetch(\`\${gateway}/api/v1/experiments/assignments/${experimentKey}\`, {\n  method: 'POST',\n  headers: { 'content-type': 'application/json' },\n  body: JSON.stringify({\n    token: '${own.token}',\n    visitor_id: visitorId,\n    track_impression: true,\n    context: { url: location.href },\n  }),\n});\nconst { in_experiment, variant_name } = await answer.json();`}
          />
          <p className="hint">
            visitorId is the id that your page uses for the visitor; gateway is the address of your gateway.
          </p>
        </>
      )}
    </Card>
  );
}

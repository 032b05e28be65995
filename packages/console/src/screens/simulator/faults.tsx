// Makes the next calls of a simulated provider fail.
import { simulatedFaults } from '@callsign/contract/simulator-choices'
import { useState } from 'preact/hooks'
import { Button } from '../../elements/button.tsx'
import { Select, TextField } from '../../elements/fields.tsx'
import { Form } from '../../elements/form.tsx'
import { Table } from '../../elements/table.tsx'
import { attempt } from '../../elements/toasts.tsx'
import { client } from '../../session/client.ts'

type Channel = keyof typeof simulatedFaults
type Faults = Awaited<ReturnType<typeof client.simulator.setFault>>['faults']

const channels = [
  { value: 'phone', label: 'Phone' },
  { value: 'imessage', label: 'iMessage' },
] as const
const optionsOf = (names: readonly string[]) => names.map((name) => ({ value: name, label: name.replaceAll('_', ' ') }))

export function Faults() {
  const [channel, setChannel] = useState<Channel>('phone')
  const [op, setOp] = useState('webhook')
  const [fail, setFail] = useState('drop')
  const [times, setTimes] = useState('1')
  const [faults, setFaults] = useState<Faults | null>(null)
  const steps: Record<string, readonly string[]> = simulatedFaults[channel]
  const step = steps[op] ? op : (Object.keys(steps)[0] as string)
  const kinds = steps[step] as readonly string[]
  const kind = kinds.includes(fail) ? fail : (kinds[0] as string)
  const set = async (body: Parameters<typeof client.simulator.setFault>[0]) => setFaults((await client.simulator.setFault(body)).faults)
  return (
    <div class="stack">
      <p class="faint">A fault makes the next calls of a simulated provider fail, so that you see how your agent handles it.</p>
      <Form
        class="form-row"
        done="The next calls fail"
        onSubmit={() => set({ provider: channel, op: step, fail: kind, times: Number(times) })}
      >
        <Select label="Channel" path="/provider" value={channel} options={channels} onChange={setChannel} />
        <Select label="Step" path="/op" value={step} options={optionsOf(Object.keys(steps))} onChange={setOp} />
        <Select label="Fault" path="/fail" value={kind} options={optionsOf(kinds)} onChange={setFail} />
        <TextField label="Times" path="/times" type="number" value={times} onInput={setTimes} />
        <Button kind="primary" type="submit">
          Set
        </Button>
      </Form>
      {faults?.length === 0 && <p class="faint">No fault is pending.</p>}
      {faults && faults.length > 0 && (
        <Table
          name="Pending faults"
          items={faults}
          keyOf={(fault) => `${fault.provider} ${fault.op} ${fault.fail}`}
          columns={[
            { title: 'Channel', cell: (fault) => fault.provider },
            { title: 'Step', cell: (fault) => fault.op },
            { title: 'Fault', cell: (fault) => fault.fail },
            { title: 'Calls', cell: (fault) => fault.times, isNumber: true },
            {
              title: '',
              cell: (fault) => (
                <Button
                  size="small"
                  onClick={() => void attempt(() => set({ provider: fault.provider, op: fault.op, fail: fault.fail, times: 0 }), 'Removed')}
                >
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
    </div>
  )
}

import FaultlineTool

runFaultlineTool()

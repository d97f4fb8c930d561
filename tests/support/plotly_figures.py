"""What a Plotly figure shows."""


def trace(figure, name: str):
    return next(trace for trace in figure.data if trace.name == name)


def notes(figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]
